/** The viewer's time zone. */
export const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Formats an instant for a date and time input, in the viewer's zone: `YYYY-MM-DDTHH:MM`. */
export function toLocalInput(at: Date): string {
  const two = (n: number) => String(n).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** Returns whether an input holds a future time in the viewer's zone. */
export function isFuture(field: string, now = Date.now()): boolean {
  return field !== '' && Date.parse(field) > now;
}
