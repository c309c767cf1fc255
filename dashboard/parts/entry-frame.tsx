import { Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { text } from '../text/text.ts';
import { Breakable } from './breakable.tsx';
import classes from './entry-frame.module.css';
import { Logo } from './logo.tsx';

/** The frame of pages for signed-out visitors: the form on the left, the brand on the right of a wide screen. */
export function EntryFrame({
  title,
  subtitle,
  foot,
  children,
}: {
  title: string;
  subtitle?: string | undefined;
  foot?: ReactNode;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title.slice(0, 80)} · Tidings`;
  }, [title]);
  return (
    <main className={classes.entry}>
      <div className={classes.side}>
        <div className={classes.logo}>
          <Logo size={24} />
          {text.app.name}
        </div>
        <div className={classes.form}>
          <div>
            <Title order={1} fz={28} lh="36px" lts="-0.02em">
              <Breakable text={title} />
            </Title>
            {subtitle && (
              <Text size="sm" c="dimmed" mt={4}>
                {subtitle}
              </Text>
            )}
          </div>
          {children}
        </div>
        <Text size="xs" c="dimmed" mih={18}>
          {foot}
        </Text>
      </div>
      <div className={classes.brand}>
        <svg viewBox="0 0 600 800" preserveAspectRatio="xMidYMid slice" aria-hidden="true">
          {WAVES.map(({ path, opacity }) => (
            <path key={path} d={path} opacity={opacity} />
          ))}
        </svg>
        <p>
          {text.app.claim} <span>{text.app.claimWhere}</span>
        </p>
      </div>
    </main>
  );
}

const LINES = 28;
const STEP = 20;

/** Lines of a calm sea with one swell, which is deepest in the middle of the drawing. */
const WAVES = Array.from({ length: LINES }, (_, line) => {
  const strength = Math.exp(-(((line - 11) / 6) ** 2));
  const points = Array.from({ length: 640 / STEP + 1 }, (_point, n) => {
    const x = n * STEP - 20;
    const swell = Math.exp(-(((x - 290) / 110) ** 2));
    const y = 60 + line * 26 + 8 * Math.sin(x / 95 + line / 4) + 110 * strength * swell;
    return `${x} ${y.toFixed(1)}`;
  });
  return { path: `M${points.join('L')}`, opacity: 0.2 + 0.6 * strength };
});
