const RELOADED_AT = 'tidings.reloaded-at';
/** A file that is still missing after a reload is not missing because of an upgrade. */
const AGAIN_MS = 30_000;

/**
 * Reloads the page when parts of the app are gone. After an upgrade, an open page cannot load the parts that it has
 * not loaded yet. If a reload does not help, the screen's error shows.
 */
export function reloadWhenOutdated(): void {
  addEventListener('vite:preloadError', (event) => {
    if (Date.now() - Number(sessionStorage.getItem(RELOADED_AT)) < AGAIN_MS) return;
    sessionStorage.setItem(RELOADED_AT, String(Date.now()));
    event.preventDefault();
    location.reload();
  });
}
