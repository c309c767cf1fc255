import { Box } from '@mantine/core';
import { text } from '../text/text.ts';

/**
 * Shows the HTML of an email in isolation: no script, no form, no access to the page (no same-origin), and links do
 * nothing. Images load as in a mail client.
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
  /** The color scheme of the mail client. */
  colorScheme?: 'light' | 'dark';
  /** Called when the email is drawn. */
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
