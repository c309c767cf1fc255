/** Texts of the shared parts. */
export const parts = {
  loading: 'Loading …',
  tryAgain: 'Try again',
  failed: 'That did not work',
  requestId: (id: string) => `Request ${id}`,
  byCurl: 'The same by the API',
  showMore: 'Show more',
  shown: (shown: number, total: number | null) =>
    total === null ? `${shown.toLocaleString()} shown` : `${shown.toLocaleString()} of ${total.toLocaleString()} shown`,
  copy: 'Copy',
  copied: 'Copied',
  undo: 'Undo',
  cancel: 'Cancel',
  notAllowed: (permission: string, role: string) => `Your role (${role}) may not do this: it needs ${permission}.`,
  typeToConfirm: (word: string) => `Type ${word} to confirm`,
  mailTitle: 'The mail as it looks',
  none: 'none',
  clear: 'Clear',
  contactSearch: 'Search by address',
  noSuchContact: 'No contact has such an address.',
  json: 'JSON',
};
