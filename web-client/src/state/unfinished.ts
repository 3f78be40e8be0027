/** Unsaved work that would be lost if the page were left now, each under a name of its own. */
const unfinished = new Set<string>();

function ask(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

/** While anything is unfinished, the browser asks before it reloads or leaves the page. */
export function setUnfinished(what: string, isUnfinished: boolean): void {
  if (isUnfinished) unfinished.add(what);
  else unfinished.delete(what);
  // A page that always listens could not be kept for the way back.
  if (unfinished.size > 0) window.addEventListener('beforeunload', ask);
  else window.removeEventListener('beforeunload', ask);
}
