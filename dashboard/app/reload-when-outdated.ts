const RELOADED_AT = 'tidings.reloaded-at';
/** A file that is still missing this long after a reload is missing for another reason than an upgrade. */
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
