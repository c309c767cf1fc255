/**
 * Returns the number of delivered emails. If the provider does not report deliveries, this is the number of sent emails
 * minus bounced emails, because a mail server reports only failures.
 * @param isReported whether the provider reports each delivery (`Config.email.reportsDeliveries`)
 */
export function countDelivered(
  counts: { sent: number; delivered: number; bounced: number },
  isReported: boolean,
): number {
  return isReported ? counts.delivered : Math.max(counts.delivered, counts.sent - counts.bounced);
}
