import pg from 'pg';

/** A column that a statement returns. */
export interface ReturnedColumn {
  name: string;
  /** The JavaScript value that the driver returns: `string`, `number[]`, `Date`, or `json`. */
  kind: string;
  /** The column of a table that the value comes from. Undefined if it is the value of an expression. */
  source: SourceColumn | undefined;
}

/** A column of a table. */
export interface SourceColumn {
  table: string;
  column: string;
  notNull: boolean;
}

/** Asks Postgres for the columns of statements, without running the statements. */
export class Describer {
  readonly #client: pg.Client;
  readonly #kinds = new Map<number, string>();
  readonly #columns = new Map<string, SourceColumn>();

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  static async connect(url: string): Promise<Describer> {
    const describer = new Describer(new pg.Client(url));
    await describer.#open();
    return describer;
  }

  async close(): Promise<void> {
    await this.#client.end();
  }

  /** @throws if Postgres does not accept the statement. */
  async describe(text: string): Promise<ReturnedColumn[]> {
    const fields = await new Promise<pg.FieldDef[]>((resolve, reject) => {
      this.#client.query(new Description(text, resolve, reject));
    });
    return fields.map(({ name, dataTypeID, tableID, columnID }) => ({
      name,
      kind: this.#kinds.get(dataTypeID) ?? `type ${dataTypeID}`,
      source: this.#columns.get(`${tableID}.${columnID}`),
    }));
  }

  async #open(): Promise<void> {
    await this.#client.connect();
    const types = await this.#client.query<{ oid: number; name: string; category: string; inner: string }>(`
      SELECT t.oid, t.typname AS name, t.typcategory AS category, coalesce(e.typcategory, '') AS inner
      FROM pg_type t LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
    `);
    for (const { oid, name, category, inner } of types.rows) {
      const text = category === 'A' ? `{${getSampleText(inner)}}` : getSampleText(category);
      const kind = () => getValueKind(pg.types.getTypeParser(oid, 'text')(text));
      this.#kinds.set(oid, /^_?jsonb?$/.test(name) ? 'json' : kind());
    }
    const columns = await this.#client.query<SourceColumn & { id: string }>(`
      SELECT attrelid || '.' || attnum AS id, relname AS table, attname AS column, attnotnull AS "notNull"
      FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE attnum > 0 AND relkind = 'r'
    `);
    for (const { id, ...column } of columns.rows) this.#columns.set(id, column);
  }
}

/** Asks Postgres for the columns of a statement: Parse and Describe, without Execute. */
class Description implements pg.Submittable {
  readonly #text: string;
  readonly #resolve: (fields: pg.FieldDef[]) => void;
  readonly #reject: (error: Error) => void;
  #fields: pg.FieldDef[] = [];

  constructor(text: string, resolve: (fields: pg.FieldDef[]) => void, reject: (error: Error) => void) {
    this.#text = text;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  submit(connection: pg.Connection): void {
    connection.parse({ name: '', text: this.#text, types: [] }, true);
    connection.describe({ type: 'S', name: '' }, true);
    connection.sync();
  }

  handleRowDescription({ fields }: { fields: pg.FieldDef[] }): void {
    this.#fields = fields;
  }

  handleError(error: Error): void {
    this.#reject(error);
  }

  handleReadyForQuery(): void {
    this.#resolve(this.#fields);
  }
}

/** Returns a value of a category of types (`pg_type.typcategory`), as Postgres sends it in text. */
function getSampleText(category: string): string {
  if (category === 'B') return 't';
  return category === 'D' ? '2026-01-01 00:00:00+00' : '1';
}

function getValueKind(value: unknown): string {
  if (Array.isArray(value)) return `${getValueKind(value[0])}[]`;
  if (value instanceof Date) return 'Date';
  return Buffer.isBuffer(value) ? 'Buffer' : typeof value;
}
