const RELOADED_AT_KEY = 'tidings.reloaded-at';
/**
 * If a file cannot be loaded within this time after a reload, the reason is not an upgrade, and the page is not
 * reloaded again.
 */
const RELOAD_PAUSE_MS = 30_000;

/**
 * Reloads the page if a file of the app cannot be loaded. After an upgrade, an open page cannot load the files of the
 * earlier release that it has not loaded yet. If a reload does not help, the screen shows an error.
 */
export function reloadWhenOutdated(): void {
  addEventListener('vite:preloadError', (event) => {
    if (Date.now() - Number(sessionStorage.getItem(RELOADED_AT_KEY)) < RELOAD_PAUSE_MS) return;
    sessionStorage.setItem(RELOADED_AT_KEY, String(Date.now()));
    event.preventDefault();
    location.reload();
  });
}
