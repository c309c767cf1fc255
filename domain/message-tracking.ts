export type TrackingMode = 'ENABLED' | 'MARKETING_ONLY' | 'DISABLED';

/** Whether opens and clicks of a mail are tracked, by the project's mode (decisions §9). */
export function isTracked(mode: TrackingMode, type: 'TRANSACTIONAL' | 'MARKETING'): boolean {
  return mode === 'ENABLED' || (mode === 'MARKETING_ONLY' && type === 'MARKETING');
}
