import type { ColumnType } from 'kysely';

/** Instants come back as `Date` and go in as `Date` or ISO text. */
export type Timestamp = ColumnType<Date, Date | string, Date | string>;
export type GeneratedTimestamp = ColumnType<Date, Date | string | undefined, Date | string>;
export type NullableTimestamp = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;

/**
 * jsonb goes in as text (`JSON.stringify`), so that the driver takes a JSON string or array for nothing else. Where its
 * shape is not one, the query file that reads it gives it its type.
 */
export type Json<Shape = unknown> = ColumnType<Shape, string, string>;
export type GeneratedJson<Shape = unknown> = ColumnType<Shape, string | undefined, string>;
export type NullableJson<Shape = unknown> = ColumnType<Shape | null, string | null | undefined, string | null>;
