/** Returns the context for sealing an email's variables (`sealSecret`). They can be opened only with this context. */
export function sealedVariablesContext(emailId: string): string {
  return `emails.options.sealed:${emailId}`;
}
