import type { ReactNode } from 'react';
import classes from './connection-drawer.module.css';
import type { ConnectionForm } from './connection-form.ts';

export interface FieldsProps {
  readonly form: ConnectionForm;
  readonly onChange: (form: ConnectionForm) => void;
}

/** A part of the editor under a heading of its own. */
export function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <fieldset className={classes.section}>
      <legend className={classes.legend}>{title}</legend>
      <div className={classes.fields}>{children}</div>
    </fieldset>
  );
}

export function Wide({ children }: { readonly children: ReactNode }) {
  return <div className={classes.wide}>{children}</div>;
}
