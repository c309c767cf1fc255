/** The time zones that this browser knows. The API accepts any IANA name. */
export const ZONES: string[] = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];
