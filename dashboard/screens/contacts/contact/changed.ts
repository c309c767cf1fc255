import type { OperationId } from '../../../api/client.ts';

/** Operations whose responses a change of a contact makes stale. */
export const CONTACT_CHANGED: readonly OperationId[] = [
  'getContact',
  'listContacts',
  'getContactSubscription',
  'listContactTimeline',
  'listContactSegments',
  'explainSegment',
];
