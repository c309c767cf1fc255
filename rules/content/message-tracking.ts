export type TrackingMode = 'ENABLED' | 'MARKETING_ONLY' | 'DISABLED';

/** Whether opens and clicks of a mail are tracked, by the project's mode (contract §9.4 Automated opens). */
export function isTracked(mode: TrackingMode, type: 'TRANSACTIONAL' | 'MARKETING'): boolean {
  return mode === 'ENABLED' || (mode === 'MARKETING_ONLY' && type === 'MARKETING');
}
