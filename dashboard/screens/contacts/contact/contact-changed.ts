import type { OperationId } from '../../../api/client.ts';

/** Operations whose responses become stale when a contact changes. */
export const CONTACT_CHANGED: readonly OperationId[] = [
  'getContact',
  'listContacts',
  'getContactSubscription',
  'listContactTimeline',
  'listContactSegments',
  'explainSegment',
];
