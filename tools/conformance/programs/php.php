<?php // php program.php LOG
spl_autoload_register(function (string $class): void {
    $name = str_replace('\\', '/', $class);
    $runtime = getenv('KAITAI_PHP_RUNTIME') . "/lib/$name.php";
    require file_exists($runtime) ? $runtime : 'build/php/' . explode('/', $name)[0] . '.php';
});
foreach (MysqlBinlog::fromFile($argv[1])->entries() as $entry) {
    $header = $entry->event()->header();
    echo $header->timestamp(), ' ', $header->typeCode(), "\n";
}
