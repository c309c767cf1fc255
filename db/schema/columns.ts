import type { ColumnType } from 'kysely';

/** An instant. Postgres returns an instant as a `Date`. It is written as a `Date` or an ISO 8601 string. */
export type Timestamp = ColumnType<Date, Date | string, Date | string>;
export type GeneratedTimestamp = ColumnType<Date, Date | string | undefined, Date | string>;
export type NullableTimestamp = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;

/**
 * A jsonb column. Values are written as text (`JSON.stringify`), because the driver would convert a JSON string or
 * array to another SQL type. If a column has several shapes, the file that queries it declares their types.
 */
export type Json<Shape = unknown> = ColumnType<Shape, string, string>;
export type GeneratedJson<Shape = unknown> = ColumnType<Shape, string | undefined, string>;
export type NullableJson<Shape = unknown> = ColumnType<Shape | null, string | null | undefined, string | null>;
