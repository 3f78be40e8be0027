import { useMemo } from 'react';
import { plural } from '../../ui/format.ts';
import { visibleText } from '../../ui/visible-text.ts';
import type { Decoded } from './decode.ts';
import { compareValues, type Difference } from './diff.ts';
import { pathText } from './json-path.ts';
import { DIFF_BYTES_MAX } from './limits.ts';
import classes from './payload-view.module.css';
import { previewText } from './pretty.ts';
import { copiedText, isStructured, shownText } from './shown-text.ts';
import { decodeWords } from './strings.ts';

/** Characters of a value in the list. */
const PREVIEW_CHARACTERS_MAX = 120;

/** Characters of its path. */
const PATH_CHARACTERS_MAX = 400;

interface ChangesProps {
  readonly decoded: Decoded;
  readonly previous: Uint8Array | undefined;
  /** Decoded in the same way as the payload itself. */
  readonly decode: (payload: Uint8Array) => Decoded;
}

/** The differences from the message before. */
export function Changes({ decoded, previous, decode }: ChangesProps) {
  const before = useMemo(() => previous && decode(previous), [previous, decode]);
  if (before === undefined)
    return <p className={classes.note}>There is no previous message of this topic to compare with.</p>;
  const isLarge = Math.max(before.bytes.length, decoded.bytes.length) > DIFF_BYTES_MAX;
  if (isLarge || isStructured(before) !== isStructured(decoded)) {
    return (
      <p className={classes.note}>
        The previous message has another format, or one of the two is too large to compare.
      </p>
    );
  }
  if (isStructured(decoded)) return <Differences before={before} after={decoded} />;
  const { text } = shownText(before, false);
  const isSame = copiedText(before) === copiedText(decoded);
  return (
    <div className={classes.scroller}>
      <p className={classes.note}>
        {isSame
          ? 'The previous message of this topic was the same.'
          : 'The previous message of this topic was:'}
      </p>
      {!isSame && <pre className={classes.text}>{text}</pre>}
    </div>
  );
}

function Differences({ before, after }: { readonly before: Decoded; readonly after: Decoded }) {
  const { differences, more } = useMemo(
    () => compareValues(before.value, after.value),
    [before.value, after.value],
  );
  if (differences.length === 0)
    return <p className={classes.note}>Nothing has changed since the previous message of this topic.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must do so by key
    // biome-ignore lint/a11y/useSemanticElements: it is no part of a form
    <div className={classes.scroller} role="group" tabIndex={0} aria-label="List of changes">
      <ul className={classes.changes}>
        {differences.map((difference, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a path may be as long as a payload
          <Change key={index} difference={difference} />
        ))}
      </ul>
      {more > 0 && (
        <p className={classes.note}>{plural(more, `${more} more change`, `${more} more changes`)}</p>
      )}
    </div>
  );
}

function Change({ difference }: { readonly difference: Difference }) {
  const { kind, path, before, after } = difference;
  return (
    <li data-kind={kind}>
      <span className={classes.changePath}>{visibleText(pathText(path).slice(0, PATH_CHARACTERS_MAX))}</span>
      <span className={classes.changeKind}>{decodeWords.kinds[kind]}</span>
      {kind !== 'added' && <del>{visibleText(previewText(before, PREVIEW_CHARACTERS_MAX))}</del>}
      {kind !== 'removed' && <ins>{visibleText(previewText(after, PREVIEW_CHARACTERS_MAX))}</ins>}
    </li>
  );
}
