import { Fragment, type ReactNode } from 'react';

/**
 * A stranger's description: its paragraphs, code between backticks, and links to web pages. Everything else is plain
 * text.
 */
export function Prose({ children }: { readonly children: string }) {
  return (
    <div className="prose">
      {children.split(/\n{2,}/).map((paragraph, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: paragraphs of one text do not change places
        <p key={index}>{inline(paragraph)}</p>
      ))}
    </div>
  );
}

const PART = /`([^`\n]+)`|(https?:\/\/[^\s<>"'`]+[^\s<>"'`.,;:!?)])/g;

function inline(paragraph: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of paragraph.matchAll(PART)) {
    const [all, code, link] = match;
    parts.push(paragraph.slice(end, match.index));
    end = match.index + all.length;
    parts.push(
      code === undefined ? (
        <a key={match.index} href={link} rel="noreferrer">
          {link}
        </a>
      ) : (
        <code key={match.index}>{code}</code>
      ),
    );
  }
  parts.push(<Fragment key="end">{paragraph.slice(end)}</Fragment>);
  return parts;
}
