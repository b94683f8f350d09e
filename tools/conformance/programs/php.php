<?php // php program.php LOG
spl_autoload_register(function (string $class): void {
    $name = str_replace('\\', '/', $class);
    $runtime = getenv('KAITAI_PHP_RUNTIME') . "/lib/$name.php";
    require file_exists($runtime) ? $runtime : 'build/php/' . explode('/', $name)[0] . '.php';
});
foreach (MysqlBinlog::fromFile($argv[1])->entries() as $entry) {
    $header = $entry->event()->header();
    $content = $entry->event()->body()->content();
    switch ($header->typeCode()) {
        case \BinlogEnums\EventType::GTID_LOG_EVENT:
            $digits = preg_replace('/^(.{8})(.{4})(.{4})(.{4})/', '$1-$2-$3-$4-', bin2hex($content->uuid()));
            echo $digits, ':', $content->gno(), "\n";
            break;
        case \BinlogEnums\EventType::GTID_EVENT:
            echo $content->domainId(), '-', $header->serverId(), '-', $content->sequenceNumber(), "\n";
            break;
        case \BinlogEnums\EventType::TABLE_MAP_EVENT:
            echo $content->schemaName(), '.', $content->tableName(), "\n";
            break;
    }
}
