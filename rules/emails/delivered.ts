/**
 * Returns the number of delivered emails. If the provider does not report deliveries, they are the sent emails minus
 * the bounced ones, because a mail server reports only failures.
 * @param isReported whether the provider reports each delivery (`Config.email.reportsDeliveries`)
 */
export function deliveredOf(counts: { sent: number; delivered: number; bounced: number }, isReported: boolean): number {
  return isReported ? counts.delivered : Math.max(counts.delivered, counts.sent - counts.bounced);
}
