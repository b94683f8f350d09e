/*!40101 SET NAMES binary*/;
CREATE TABLE `v`(
`one` int
)ENGINE=MyISAM;
