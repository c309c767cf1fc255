import { Paper, Text } from '@mantine/core';
import { formatCount } from '../../parts/count-link.tsx';
import { ShortTime } from '../../parts/instant.tsx';
import { text } from '../../text/text.ts';
import classes from './sms-phone.module.css';
import type { SmsResponse } from './sms-type.ts';

const words = text.messages;

/** Shows the text as the recipient's phone does. Below it is the size, for which the provider bills. */
export function SmsPhone({ sms }: { sms: SmsResponse }) {
  return (
    <Paper withBorder component="section" aria-label={words.smsText} style={{ overflow: 'hidden' }}>
      <div className={classes.desk}>
        <div className={classes.phone}>
          <div className={classes.sender}>{sms.from}</div>
          <div className={classes.chat}>
            <div className={classes.time}>
              <ShortTime at={sms.sentAt ?? sms.createdAt} />
            </div>
            <div className={classes.bubble}>{sms.body}</div>
          </div>
        </div>
      </div>
      <Size sms={sms} />
    </Paper>
  );
}

function Size({ sms: { body, encoding, segments, status, sentAt } }: { sms: SmsResponse }) {
  const isUnsent = status === 'FAILED' && sentAt === null;
  const figures = [
    { name: words.characters, value: formatCount([...body].length), detail: words.charactersDetail(segments) },
    { name: words.encoding, value: words.encodings[encoding], detail: words.encodingDetail[encoding] },
    {
      name: words.segments,
      value: formatCount(segments),
      detail: isUnsent ? words.notBilled : words.segmentsDetail(segments),
    },
  ];
  return (
    <div className="stats">
      {figures.map(({ name, value, detail }) => (
        <div key={name}>
          <Text size="xs" fw={500} c="dimmed">
            {name}
          </Text>
          <div className={`stats-figure ${classes.figure}`}>{value}</div>
          <Text size="xs" c="dimmed">
            {detail}
          </Text>
        </div>
      ))}
    </div>
  );
}
