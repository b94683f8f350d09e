//! Rows decoded with what their table map says, looked up once.
use std::io;

use mysql_common::{
    binlog::{events::{OptionalMetaExtractor, TableMapEvent}, value::BinlogValue},
    constants::ColumnType,
    io::ParseBuf,
};

use crate::totals::Totals;

/// The first flag of a partial update: a bitmap says which documents are differences.
const PARTIAL_JSON: u64 = 1;

struct Column {
    kind: ColumnType,
    metadata: Vec<u8>,
    is_unsigned: bool,
}

pub struct Prepared {
    columns: Vec<Column>,
    documents: usize,
}

impl Prepared {
    pub fn new(map: &TableMapEvent<'_>) -> io::Result<Self> {
        let optional = OptionalMetaExtractor::new(map.iter_optional_meta())?;
        let mut signs = optional.iter_signedness();
        let mut columns = Vec::new();
        for number in 0..map.columns_count() as usize {
            let kind = map.get_column_type(number).map_err(io::Error::other)?.ok_or(io::ErrorKind::InvalidData)?;
            let metadata = map.get_column_metadata(number).unwrap_or(&[]).to_vec();
            let is_unsigned = kind.is_numeric_type() && signs.next().unwrap_or_default();
            columns.push(Column { kind, metadata, is_unsigned });
        }
        drop(signs);
        Ok(Prepared { columns, documents: map.json_column_count() })
    }

    /// All rows of an event: the columns present before and after a change, and the bytes.
    pub fn rows(
        &self, columns: [Option<Vec<usize>>; 2], is_partial: bool, rows: &[u8], totals: &mut Totals,
    ) -> io::Result<()> {
        let [before, after] = &columns;
        let mut rest = ParseBuf(rows);
        while !rest.is_empty() {
            if let Some(columns) = before {
                self.image(columns, false, &mut rest, totals)?;
            }
            if let Some(columns) = after {
                self.image(columns, is_partial, &mut rest, totals)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn image<'a>(
        &'a self, columns: &[usize], is_partial: bool, rest: &mut ParseBuf<'a>, totals: &mut Totals,
    ) -> io::Result<()> {
        let mut differences: &[u8] = &[];
        if is_partial {
            let options = rest.checked_eat_lenenc_int().ok_or(io::ErrorKind::UnexpectedEof)?;
            if options & PARTIAL_JSON != 0 {
                differences = rest.parse(self.documents.div_ceil(8))?;
            }
        }
        let nulls: &[u8] = rest.parse(columns.len().div_ceil(8))?;
        let mut document = 0;
        for (place, &number) in columns.iter().enumerate() {
            let column = &self.columns[number];
            let mut is_difference = false;
            if column.kind == ColumnType::MYSQL_TYPE_JSON {
                is_difference = !differences.is_empty() && is_set(differences, document);
                document += 1;
            }
            if is_set(nulls, place) {
                totals.nulls += 1;
                continue;
            }
            let arguments = (column.kind, &column.metadata[..], column.is_unsigned, is_difference);
            totals.add(rest.parse::<BinlogValue<'_>>(arguments)?);
        }
        totals.rows += 1;
        Ok(())
    }
}

#[inline]
fn is_set(bits: &[u8], place: usize) -> bool {
    bits[place / 8] >> (place % 8) & 1 == 1
}
