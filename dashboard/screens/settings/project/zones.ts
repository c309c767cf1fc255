/** The time zones that this browser knows; the API takes any name of IANA. */
export const ZONES: string[] = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];
