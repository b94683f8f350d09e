//! `peer MODE LOG`: decodes every value of a log with mysql_common, checks each CRC, drops the values, prints counts.
//!
//! - `api`: as documented, `BinlogFile` and `RowsEventData::rows`
//! - `prepared`: the same events, but the columns of a table map are looked up once
//! - `tuned`: the file mapped, headers read by hand, nothing copied, columns looked up once per definition
mod prepared;
mod totals;

use std::{collections::HashMap, fs::File, io};

use bitvec::slice::BitSlice;
use mysql_common::{
    binlog::{
        consts::{BinlogChecksumAlg::BINLOG_CHECKSUM_ALG_CRC32, BinlogVersion, EventType},
        events::*,
        BinlogCtx, BinlogFile, EventStreamReader,
    },
    io::ParseBuf,
    proto::MyDeserialize,
};
use prepared::Prepared;
use totals::Totals;

type Tables = HashMap<u64, Prepared>;

const HEADER: usize = 19;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let mut totals = Totals::default();
    match &arguments[1][..] {
        "tuned" => tuned(&arguments[2], &mut totals)?,
        mode => stream(&arguments[2], mode == "prepared", &mut totals)?,
    }
    println!("{{\"rows\": {}, \"nulls\": {}, \"sum\": {}}}", totals.rows, totals.nulls, totals.sum);
    Ok(())
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn present(columns: Option<&BitSlice<u8>>) -> Option<Vec<usize>> {
    columns.map(|bits| bits.iter_ones().collect())
}

// The crate's reader ------------------------------------------------------------------------------------------

fn stream(path: &str, is_prepared: bool, totals: &mut Totals) -> io::Result<()> {
    let buffered = io::BufReader::with_capacity(1 << 20, File::open(path)?);
    let mut file = BinlogFile::new(BinlogVersion::Version4, buffered)?;
    let mut tables = Tables::new();
    while let Some(event) = file.next() {
        let event = event?;
        if let (Some(sum), Ok(Some(algorithm))) = (event.checksum(), event.footer().get_checksum_alg()) {
            if algorithm == BINLOG_CHECKSUM_ALG_CRC32 && event.calc_checksum(algorithm) != u32::from_le_bytes(sum) {
                return Err(wrong("checksum"));
            }
        }
        take(&event, file.reader_mut(), is_prepared.then_some(&mut tables), totals)?;
    }
    Ok(())
}

fn take(
    event: &Event, reader: &mut EventStreamReader, mut tables: Option<&mut Tables>, totals: &mut Totals,
) -> io::Result<()> {
    match event.read_data()? {
        Some(EventData::TableMapEvent(map)) => {
            if let Some(tables) = tables {
                tables.remove(&map.table_id());
            }
        }
        Some(EventData::RowsEvent(rows)) => {
            let map = reader.get_tme(rows.table_id()).ok_or_else(|| wrong("table map"))?;
            let Some(tables) = tables else { return all_rows(map, &rows, totals) };
            if !tables.contains_key(&rows.table_id()) {
                tables.insert(rows.table_id(), Prepared::new(map)?);
            }
            prepared_rows(&tables[&rows.table_id()], &rows, totals)?;
        }
        Some(EventData::TransactionPayloadEvent(payload)) => {
            let mut inner = payload.decompressed()?;
            while let Some(event) = reader.read_decompressed(&mut inner)? {
                take(&event, reader, tables.as_deref_mut(), totals)?;
            }
        }
        _ => (),
    }
    Ok(())
}

fn all_rows(map: &TableMapEvent<'_>, rows: &RowsEventData<'_>, totals: &mut Totals) -> io::Result<()> {
    for row in rows.rows(map) {
        let (before, after) = row?;
        for image in [before, after].into_iter().flatten() {
            totals.rows += 1;
            image.unwrap().into_iter().for_each(|value| totals.add(value));
        }
    }
    Ok(())
}

fn prepared_rows(table: &Prepared, rows: &RowsEventData<'_>, totals: &mut Totals) -> io::Result<()> {
    let columns = [present(rows.columns_before_image()), present(rows.columns_after_image())];
    let is_partial = matches!(rows, RowsEventData::PartialUpdateRowsEvent(_));
    table.rows(columns, is_partial, rows.rows_data(), totals)
}

// Headers by hand ---------------------------------------------------------------------------------------------

fn tuned(path: &str, totals: &mut Totals) -> io::Result<()> {
    let file = File::open(path)?;
    let map = unsafe { memmap2::Mmap::map(&file)? };
    let mut rest = &map[4..];
    let mut reader = EventStreamReader::new(BinlogVersion::Version4);
    reader.read(io::Cursor::new(rest))?;
    let format = reader.get_fde().clone();
    let has_sums = matches!(format.footer().get_checksum_alg(), Ok(Some(BINLOG_CHECKSUM_ALG_CRC32)));
    let mut tables = HashMap::new();
    while rest.len() >= HEADER {
        let (event, after) = rest.split_at(size_of(rest));
        let (body, sum) = event.split_at(event.len() - if has_sums { 4 } else { 0 });
        let is_format = event[4] == EventType::FORMAT_DESCRIPTION_EVENT as u8;
        if has_sums && !is_format && crc32fast::hash(body).to_le_bytes() != sum {
            return Err(wrong("checksum"));
        }
        tuned_event(event[4], &body[HEADER..], &format, &mut tables, totals)?;
        rest = after;
    }
    Ok(())
}

fn size_of(event: &[u8]) -> usize {
    u32::from_le_bytes([event[9], event[10], event[11], event[12]]) as usize
}

/// A table map's bytes, to see that it is the same one again, and its columns.
type Seen = HashMap<u64, (Vec<u8>, Prepared)>;

fn tuned_event(
    kind: u8, body: &[u8], format: &FormatDescriptionEvent<'static>, tables: &mut Seen, totals: &mut Totals,
) -> io::Result<()> {
    macro_rules! event {
        ($type:ident) => {
            $type::deserialize(BinlogCtx::new(body.len() + HEADER, format, kind), &mut ParseBuf(body))?
        };
    }
    let rows = match EventType::try_from(kind) {
        Ok(EventType::TABLE_MAP_EVENT) => {
            let id = body[..6].iter().rev().fold(0, |id, &byte| id << 8 | u64::from(byte));
            if tables.get(&id).is_none_or(|(bytes, _)| bytes != body) {
                tables.insert(id, (body.to_vec(), Prepared::new(&event!(TableMapEvent))?));
            }
            return Ok(());
        }
        Ok(EventType::TRANSACTION_PAYLOAD_EVENT) => {
            let all = event!(TransactionPayloadEvent).danger_decompress();
            let mut rest = &all[..];
            while rest.len() >= HEADER {
                let (event, after) = rest.split_at(size_of(rest));
                tuned_event(event[4], &event[HEADER..], format, tables, totals)?;
                rest = after;
            }
            return Ok(());
        }
        Ok(EventType::WRITE_ROWS_EVENT) => RowsEventData::WriteRowsEvent(event!(WriteRowsEvent)),
        Ok(EventType::UPDATE_ROWS_EVENT) => RowsEventData::UpdateRowsEvent(event!(UpdateRowsEvent)),
        Ok(EventType::DELETE_ROWS_EVENT) => RowsEventData::DeleteRowsEvent(event!(DeleteRowsEvent)),
        Ok(EventType::WRITE_ROWS_EVENT_V1) => RowsEventData::WriteRowsEventV1(event!(WriteRowsEventV1)),
        Ok(EventType::UPDATE_ROWS_EVENT_V1) => RowsEventData::UpdateRowsEventV1(event!(UpdateRowsEventV1)),
        Ok(EventType::DELETE_ROWS_EVENT_V1) => RowsEventData::DeleteRowsEventV1(event!(DeleteRowsEventV1)),
        Ok(EventType::PARTIAL_UPDATE_ROWS_EVENT) => {
            RowsEventData::PartialUpdateRowsEvent(event!(PartialUpdateRowsEvent))
        }
        _ => return Ok(()),
    };
    let (_, table) = tables.get(&rows.table_id()).ok_or_else(|| wrong("table map"))?;
    prepared_rows(table, &rows, totals)
}
