/** The type of the failure with which a workflow ends whose row does not exist. */
export const ROW_MISSING = 'ROW_MISSING';

/** The records that workflows work on. */
export type RowKind = 'execution' | 'campaign' | 'chunk' | 'job' | 'email' | 'sms' | 'webhook endpoint';

/**
 * A workflow asks for work on a record that does not exist. Another database than the one that started the workflow is
 * the usual cause. A missing record is never a normal end: only a record says that its work has ended.
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
