import { expect, it } from 'vitest';
import { readSesNotification } from './ses-notification.ts';

const readFeedback = (part: object) =>
  readSesNotification(JSON.stringify({ mail: { messageId: 'ses-1' }, ...part }), new Date(0))?.feedback;

it('reports a complaint of the recipient as a complaint', () => {
  const complaint = { timestamp: '2026-11-28T10:00:00Z', complaintFeedbackType: 'abuse', complaintSubType: null };
  expect(readFeedback({ eventType: 'Complaint', complaint })).toMatchObject({ kind: 'complaint' });
});

it.each([
  { notificationType: 'Complaint', complaint: { complaintSubType: 'OnAccountSuppressionList' } },
  { notificationType: 'Bounce', bounce: { bounceType: 'Permanent', bounceSubType: 'OnAccountSuppressionList' } },
])(
  'a notification about an address on the suppression list of SES says nothing about the recipient: $notificationType',
  (part) => {
    const timestamp = '2026-11-28T10:00:00Z';
    const dated = JSON.parse(JSON.stringify(part), (key, value) =>
      key === 'complaint' || key === 'bounce' ? { ...value, timestamp } : value,
    );
    expect(readFeedback(dated)).toMatchObject({ kind: 'bounce', refusal: { about: 'us' } });
  },
);
