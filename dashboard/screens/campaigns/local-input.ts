/** The zone of who looks at the screen. */
export const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** An instant as a field of date and time has it, by the viewer's clock: `YYYY-MM-DDTHH:MM`. */
export function toLocalInput(at: Date): string {
  const two = (n: number) => String(n).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** Whether a field holds a time to come, by the viewer's clock. */
export function isToCome(field: string, now = Date.now()): boolean {
  return field !== '' && Date.parse(field) > now;
}
