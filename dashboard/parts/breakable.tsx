/** Words that break before an @ where they have no room, rather than in the middle of a name. */
export function Breakable({ children }: { children: string }) {
  const at = children.lastIndexOf('@');
  if (at <= 0) return children;
  return (
    <>
      {children.slice(0, at)}
      <wbr />
      {children.slice(at)}
    </>
  );
}
