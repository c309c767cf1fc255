const RELOADED_AT = 'tidings.reloaded-at';
/**
 * If a file is missing again within this time after a reload, the reason is not an upgrade, and the page is not
 * reloaded again.
 */
const AGAIN_MS = 30_000;

/**
 * Reloads the page if a file of the app no longer exists. After an upgrade, an open page cannot load the files of the
 * earlier release that it has not loaded yet. If a reload does not help, the screen shows an error.
 */
export function reloadWhenOutdated(): void {
  addEventListener('vite:preloadError', (event) => {
    if (Date.now() - Number(sessionStorage.getItem(RELOADED_AT)) < AGAIN_MS) return;
    sessionStorage.setItem(RELOADED_AT, String(Date.now()));
    event.preventDefault();
    location.reload();
  });
}
