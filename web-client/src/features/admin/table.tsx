import type { ReactElement, ReactNode } from 'react';
import classes from './admin-view.module.css';

interface TableProps {
  readonly label: string;
  /** The heads: their texts, or the cells themselves. */
  readonly columns: readonly (string | ReactElement)[];
  /** In place of rows; undefined where there are some, or it is not known yet. */
  readonly empty: string | undefined;
  readonly children: ReactNode;
  /** Of the box in which it scrolls. */
  readonly className?: string | undefined;
}

/** A table in a box of its own, which scrolls on a phone, and must do so by key. */
export function Table({ label, columns, empty, children, className = classes.scroll }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    // biome-ignore lint/a11y/useSemanticElements: it is no part of a form
    <div className={className} role="group" tabIndex={0} aria-label={label}>
      <table className={classes.table} aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) =>
              typeof column !== 'string' ? (
                column
              ) : (
                <th key={column} scope="col">
                  {column}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {children}
          {empty !== undefined && (
            <tr>
              <td colSpan={columns.length}>{empty}</td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}
