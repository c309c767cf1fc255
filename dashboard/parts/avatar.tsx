const COLORS = 5;

/** Shows the initials of a name or an address. A hash of `of` selects one of five background colors. */
export function Avatar({ of, name = of }: { of: string; name?: string | undefined }) {
  const sum = [...of].reduce((total, char) => total + (char.codePointAt(0) ?? 0), 0);
  const letters = name
    .split(/[@._+\s-]+/)
    .filter((word) => /^[\p{L}\p{N}]/u.test(word))
    .slice(0, 2)
    .map((word) => ([...word][0] ?? '').toUpperCase())
    .join('');
  return (
    <span className="avatar" style={{ background: `var(--avatar-${(sum % COLORS) + 1})` }} aria-hidden>
      {letters}
    </span>
  );
}
