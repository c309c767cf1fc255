import { TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useId, useState } from 'react';
import { text } from '../../text/text.ts';
import classes from './layout-gallery.module.css';
import { createLayoutContent, TEMPLATE_LAYOUTS } from './layouts.ts';
import { Thumbnail } from './thumbnail.tsx';

const words = text.emailEditor;
/** The maximum number of templates that are shown. Users find the others by name. */
const SHOWN_MAX = 6;
const HEIGHT = 132;

interface Layout {
  id: string;
  name: string;
  body?: string | undefined;
}

const BUILT_IN: readonly Layout[] = TEMPLATE_LAYOUTS.map((id) => ({
  id,
  name: text.templates.starts[id],
  body: createLayoutContent(id).body,
}));

/** Offers the content to start from: built-in layouts, and templates of the project, each with a preview. */
export function LayoutGallery({
  label,
  templates = [],
  value,
  onChange,
}: {
  label: string;
  templates?: readonly Layout[];
  /** The name of a built-in layout, or the id of a template. */
  value: string;
  onChange: (value: string) => void;
}) {
  const name = useId();
  const [search, setSearch] = useState('');
  const matches = templates.filter((one) => one.name.toLowerCase().includes(search.trim().toLowerCase()));
  const visible = matches.filter(({ id }, n) => n < SHOWN_MAX || id === value);
  const cards = (layouts: readonly Layout[]) =>
    layouts.map((layout) => (
      <label key={layout.id} className={classes.card}>
        <Thumbnail template={layout} height={HEIGHT} />
        <span className={classes.name}>
          <input
            type="radio"
            name={name}
            value={layout.id}
            checked={layout.id === value}
            onChange={() => onChange(layout.id)}
          />
          <span>{layout.name}</span>
        </span>
      </label>
    ));
  return (
    <div role="radiogroup" aria-label={label}>
      <div className={classes.cards}>{cards(BUILT_IN)}</div>
      {templates.length > 0 && (
        <>
          <div className={classes.head}>
            <h3>{words.ownTemplates}</h3>
            {templates.length > SHOWN_MAX && (
              <TextInput
                size="xs"
                aria-label={words.searchTemplates}
                placeholder={words.searchTemplates}
                leftSection={<IconSearch size={14} aria-hidden />}
                value={search}
                onChange={(event) => setSearch(event.currentTarget.value)}
                onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
              />
            )}
          </div>
          <div className={classes.cards}>{cards(visible)}</div>
          <p className={classes.more} role="status">
            {matches.length === 0
              ? words.noTemplates
              : matches.length > visible.length && words.moreTemplates(matches.length)}
          </p>
        </>
      )}
    </div>
  );
}
