/** The type of the failure with which a workflow ends if its row does not exist. */
export const ROW_MISSING = 'ROW_MISSING';

/** The records that workflows work on. */
export type RowKind = 'execution' | 'campaign' | 'chunk' | 'job' | 'email' | 'sms' | 'webhook endpoint';

/**
 * A workflow requests work on a record that does not exist. Usually, this process uses another database than the
 * process that started the workflow. Work counts as ended only if its record says so, never because the record is
 * missing.
 */
export class RowMissing extends Error {
  readonly kind: RowKind;
  readonly id: string;

  constructor(kind: RowKind, id: string) {
    super(`The ${kind} ${id} does not exist in this database.`);
    this.kind = kind;
    this.id = id;
  }
}
