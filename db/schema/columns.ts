import type { ColumnType } from 'kysely';

/** Instants are read as `Date` and written as `Date` or ISO text. */
export type Timestamp = ColumnType<Date, Date | string, Date | string>;
export type GeneratedTimestamp = ColumnType<Date, Date | string | undefined, Date | string>;
export type NullableTimestamp = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;

/**
 * A jsonb column. Values are written as text (`JSON.stringify`), because the driver would take a JSON string or array
 * for another type. Columns with several shapes get their type from the query file that reads them.
 */
export type Json<Shape = unknown> = ColumnType<Shape, string, string>;
export type GeneratedJson<Shape = unknown> = ColumnType<Shape, string | undefined, string>;
export type NullableJson<Shape = unknown> = ColumnType<Shape | null, string | null | undefined, string | null>;
