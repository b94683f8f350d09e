<?php
// Parses logs with the grammar compiled to PHP and prints their trees as JSON lines. Arguments: the folder with the
// compiled classes, the runtime's folder, the schema. The names of the logs come as lines.
[, $folder, $runtime, $schema] = $argv;
spl_autoload_register(function (string $class) use ($folder, $runtime): void {
    $name = str_replace('\\', '/', $class);
    foreach (["$runtime/lib/$name.php", "$folder/" . explode('/', $name)[0] . '.php'] as $file) {
        if (file_exists($file)) {
            require_once $file;
            return;
        }
    }
});

$fields = [];
$enums = ['-' => []];
foreach (file($schema, FILE_IGNORE_NEW_LINES) as $line) {
    $words = explode("\t", $line);
    switch ($words[0]) {
        case 'T': $type = $words[1]; $fields[$type] = []; break;
        case 'F': $fields[$type][] = array_slice($words, 1); break;
        case 'E': $enum = $words[1]; $enums[$enum] = []; break;
        case 'M': $enums[$enum][(int) $words[1]] = $words[2]; break;
    }
}

function tree($value, string $kind, string $enum)
{
    global $enums;
    if ($value === null || is_bool($value)) return $value;
    if (is_array($value)) return array_map(fn ($item) => tree($item, rtrim($kind, '*'), $enum), array_values($value));
    if (is_object($value)) return record($value);
    if (is_string($value)) {
        return $kind === 'x' ? ['hex' => bin2hex($value)] : $value;
    }
    if (is_float($value) && !is_finite($value)) return is_nan($value) ? 'NaN' : ($value > 0 ? 'Infinity' : '-Infinity');
    if ($kind === 'u' && is_int($value)) return new Natural($value);
    return $enums[$enum][$value] ?? $value;
}

// PHP's integers are signed; the text of an unsigned one is put into the JSON as it is.
final class Natural implements JsonSerializable
{
    public function __construct(private int $value) {}
    public function jsonSerialize(): mixed { return $this->value >= 0 ? $this->value : sprintf('natural:%u', $this->value); }
}

function record(object $object, ?string $skip = null): array
{
    global $fields;
    $path = str_replace('\\', '.', get_class($object));
    $found = ['_type' => $path];
    foreach ($fields[$path] as [$name, $kind, $enum]) {
        if ($name === $skip) continue;
        $method = lcfirst(str_replace('_', '', ucwords($name, '_')));
        try {
            $found[$name] = tree($object->$method(), $kind, $enum);
        } catch (Throwable) {
            $found[$name] = ['error' => true];
        }
    }
    return $found;
}

function show(array $found): void
{
    $options = JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_INVALID_UTF8_SUBSTITUTE | JSON_PRESERVE_ZERO_FRACTION | JSON_THROW_ON_ERROR;
    echo preg_replace('/"natural:(\d+)"/', '$1', json_encode($found, $options)), "\n";
}

ini_set('serialize_precision', '-1');
ini_set('memory_limit', '-1');
while (($log = fgets(STDIN)) !== false) {
    $data = file_get_contents(rtrim($log, "\n"));
    $start = hrtime(true);
    try {
        $root = new MysqlBinlog(new \Kaitai\Struct\Stream($data));
    } catch (Throwable) {
        echo "{\"error\": true}\nend 0\n";
        continue;
    }
    $taken = (hrtime(true) - $start) / 1e9;
    show(record($root, 'entries'));
    foreach ($root->entries() as $entry) show(record($entry));
    printf("end %f\n", $taken);
}
