/*!40101 SET NAMES binary*/;
/*!40014 SET FOREIGN_KEY_CHECKS=0*/;

/*!40103 SET TIME_ZONE='+00:00' */;
CREATE TABLE `a` (
  `id` int(10) unsigned zerofill NOT NULL AUTO_INCREMENT,
  `v` varchar(99) CHARACTER SET latin1 COLLATE latin1_swedish_ci DEFAULT NULL,
  `b` varbinary(99) DEFAULT NULL,
  `bl` blob DEFAULT NULL,
  `bi` bit(9) DEFAULT NULL,
  `f` float DEFAULT NULL,
  `db` double DEFAULT NULL,
  `de` decimal(9,3) DEFAULT NULL,
  `y` year(4) DEFAULT NULL,
  `dt` datetime(3) DEFAULT NULL,
  `ts` timestamp(6) NULL DEFAULT NULL,
  `t` time DEFAULT NULL,
  `e` enum('a','ß','') CHARACTER SET latin1 COLLATE latin1_swedish_ci DEFAULT NULL,
  `s` set('x','y') DEFAULT NULL,
  `j` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`j`)),
  `p` point DEFAULT NULL,
  `g` int(11) GENERATED ALWAYS AS (`y` + 1) STORED,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=4 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_uca1400_ai_ci;
