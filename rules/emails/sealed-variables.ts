/** Returns the context in which an email's variables are sealed (`sealSecret`). They open in no other context. */
export function sealedVariables(emailId: string): string {
  return `emails.options.sealed:${emailId}`;
}
