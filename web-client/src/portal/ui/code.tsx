import type { ReactNode } from 'react';
import { Copy } from './copy.tsx';

interface CodeProps {
  /** Names it for screen readers, and on its button. */
  readonly name: string;
  readonly head: ReactNode;
  readonly children: string;
}

/** A text to copy. */
export function Code({ name, head, children }: CodeProps) {
  return (
    <figure aria-label={name}>
      <figcaption>
        <span>{head}</span>
        <Copy what={name} content={children} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled with the keyboard */}
      <pre tabIndex={0}>
        <code>{children}</code>
      </pre>
    </figure>
  );
}
