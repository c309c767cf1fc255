/**
 * Returns the context for sealing an email's variables (`sealSecret`). The variables can be unsealed only with this
 * context.
 */
export function sealedVariablesContext(emailId: string): string {
  return `emails.options.sealed:${emailId}`;
}
