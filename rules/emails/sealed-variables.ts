/** Where the sealed variables of a mail stand (`sealSecret`): they open nowhere else. */
export function sealedVariables(emailId: string): string {
  return `emails.options.sealed:${emailId}`;
}
