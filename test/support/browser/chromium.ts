import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { debianFiles } from '../debian-packages.ts';

/**
 * The headless program, with which tests need half of the processor time, and a font with Latin, Arabic and Hebrew, so
 * that a machine without fonts shows text.
 */
const PACKAGES = ['chromium-headless-shell', 'chromium-common', 'fonts-dejavu-core', 'fontconfig-config'];
const INSTALLED = [
  '/usr/bin/chromium',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** A program and the environment that it needs. */
export interface Chromium {
  executablePath: string;
  env: NodeJS.ProcessEnv;
}

/**
 * Returns the machine's Chromium (`CHROMIUM_PATH`, or the usual places), else Debian's, unpacked in the user's cache
 * folder. If neither is available, returns the reason as a sentence.
 */
export async function findChromium(): Promise<Chromium | string> {
  const installed = [process.env.CHROMIUM_PATH, ...INSTALLED].find((path) => path && existsSync(path));
  if (installed) return { executablePath: installed, env: process.env };
  const files = await debianFiles(PACKAGES);
  if (typeof files === 'string') return files;
  return {
    executablePath: join(files.root, 'usr', 'lib', 'chromium', 'chromium-headless-shell'),
    env: {
      ...files.env,
      // Fontconfig reads fonts from this folder too, and its own rules from the other one.
      XDG_DATA_HOME: join(files.root, 'usr', 'share'),
      FONTCONFIG_PATH: join(files.root, 'etc', 'fonts'),
    },
  };
}

let launched: Promise<Browser> | undefined;

/**
 * The browser of this worker, started by the first test that needs it. It ends with the process, because it reads from
 * a pipe of it.
 */
export function launchChromium({ executablePath, env }: Chromium): Promise<Browser> {
  launched ??= chromium.launch({
    executablePath,
    env,
    // Tests run as root in containers, where Chromium's sandbox cannot start. They open only our own pages.
    args: ['--no-sandbox', '--disable-gpu', '--font-render-hinting=none', '--force-color-profile=srgb'],
  });
  return launched;
}
