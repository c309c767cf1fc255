const RELOADED_AT = 'tidings.reloaded-at';
/** What is still missing after a reload is not missing because of an upgrade. */
const AGAIN_MS = 30_000;

/**
 * After an upgrade the parts of the app that an open page has not loaded yet are gone: the page loads itself anew,
 * whose parts are those of today. Where that does not help, the screen's error shows.
 */
export function reloadWhenOutdated(): void {
  addEventListener('vite:preloadError', (event) => {
    if (Date.now() - Number(sessionStorage.getItem(RELOADED_AT)) < AGAIN_MS) return;
    sessionStorage.setItem(RELOADED_AT, String(Date.now()));
    event.preventDefault();
    location.reload();
  });
}
