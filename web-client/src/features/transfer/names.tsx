import classes from './transfer.module.css';

/** Names that are shown of a file; the others are counted. */
const SHOWN_MAX = 12;

interface NamesProps {
  readonly names: readonly { readonly id: string; readonly name: string; readonly detail: string }[];
}

/** The names of a file's entries, up to `SHOWN_MAX`. */
export function Names({ names }: NamesProps) {
  return (
    <ul className={classes.names}>
      {names.slice(0, SHOWN_MAX).map(({ id, name, detail }) => (
        <li key={id}>
          {name} <code>{detail}</code>
        </li>
      ))}
      {names.length > SHOWN_MAX && <li>{`and ${names.length - SHOWN_MAX} more`}</li>}
    </ul>
  );
}
