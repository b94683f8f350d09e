//! Counts of rows and NULLs, and a sum over all values, so that the compiler cannot leave out their decoding.
use std::hint::black_box;

use mysql_common::{binlog::value::BinlogValue, value::Value};

#[derive(Default)]
pub struct Totals {
    pub rows: u64,
    pub nulls: u64,
    pub sum: u64,
}

impl Totals {
    #[inline]
    pub fn add(&mut self, value: BinlogValue<'_>) {
        let part = match value {
            BinlogValue::Value(Value::NULL) => {
                self.nulls += 1;
                0
            }
            BinlogValue::Value(Value::Bytes(bytes)) => bytes.len() as u64 + u64::from(*bytes.last().unwrap_or(&0)),
            BinlogValue::Value(Value::Int(number)) => number as u64,
            BinlogValue::Value(Value::UInt(number)) => number,
            BinlogValue::Value(Value::Float(number)) => u64::from(number.to_bits()),
            BinlogValue::Value(Value::Double(number)) => number.to_bits(),
            BinlogValue::Value(Value::Date(year, month, day, hour, minute, second, micros)) => {
                let small = [month, day, hour, minute, second].map(u64::from).iter().sum::<u64>();
                u64::from(year) + small + u64::from(micros)
            }
            BinlogValue::Value(Value::Time(_, days, hours, minutes, seconds, micros)) => {
                let small = [hours, minutes, seconds].map(u64::from).iter().sum::<u64>();
                u64::from(days) + small + u64::from(micros)
            }
            BinlogValue::Jsonb(document) => {
                black_box(document.parse().expect("a document"));
                1
            }
            BinlogValue::JsonDiff(differences) => differences.len() as u64,
        };
        self.sum = self.sum.wrapping_add(part);
    }
}
