import type { OperationId } from '../../../api/client.ts';

/** What a change of a contact makes old. */
export const CONTACT_CHANGED: readonly OperationId[] = [
  'getContact',
  'listContacts',
  'getContactSubscription',
  'listContactTimeline',
  'listContactSegments',
  'explainSegment',
];
