/** The emails of a project in which opens and clicks are tracked: all, MARKETING only, or none. */
export type TrackingMode = 'ENABLED' | 'MARKETING_ONLY' | 'DISABLED';

/** Tells whether opens and clicks of an email are tracked in the project's mode. */
export function isTracked(mode: TrackingMode, type: 'TRANSACTIONAL' | 'MARKETING'): boolean {
  return mode === 'ENABLED' || (mode === 'MARKETING_ONLY' && type === 'MARKETING');
}
