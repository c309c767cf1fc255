import { Box } from '@mantine/core';
import { text } from '../text/text.ts';

/**
 * The HTML of an email in isolation: no script, no form, no same-origin (its content reaches nothing of the page),
 * and links do nothing. Images load as they would in a mailbox.
 */
export function MailFrame({
  html,
  height = 560,
  width = '100%',
  title = text.parts.mailTitle,
  colorScheme,
  onLoad,
}: {
  html: string;
  height?: number;
  width?: number | string;
  title?: string;
  /** As a mailbox in dark mode shows it. */
  colorScheme?: 'light' | 'dark';
  /** It is drawn. */
  onLoad?: () => void;
}) {
  const scheme = colorScheme ?? 'light';
  return (
    <Box
      component="iframe"
      title={title}
      sandbox=""
      srcDoc={html}
      onLoad={onLoad}
      referrerPolicy="no-referrer"
      w={width}
      h={height}
      style={{
        border: '1px solid var(--mantine-color-default-border)',
        borderRadius: 'var(--mantine-radius-md)',
        background: scheme === 'dark' ? '#1b1e25' : '#fff',
        colorScheme: scheme,
        maxWidth: '100%',
      }}
    />
  );
}
