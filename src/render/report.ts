/** Errors in the user's input, one line each. Any other exception is a bug. */
export class InputError extends Error {
  constructor(readonly lines: readonly string[]) {
    super(lines.join('\n'));
  }
}

interface Line {
  readonly document: number;
  readonly text: string;
}

/**
 * Messages for the user about a run, in the order of the documents. They contain a field's value only if the caller
 * adds it.
 */
export class Report {
  private readonly found: Line[] = [];
  private readonly wrong: Line[] = [];

  of(document: number, label: string): DocumentReport {
    const add = (lines: Line[], kind: string, field: string, text: string) => {
      const line = { document, text: `${kind}: ${label}: ${field === '' ? '' : `${field}: `}${text}` };
      if (!lines.some((other) => other.text === line.text)) lines.push(line);
    };
    return {
      label,
      note: (field, text) => add(this.found, 'note', field, text),
      lost: (field, text) => add(this.found, 'not carried over', field, text),
      error: (field, text) => add(this.wrong, 'error', field, text),
    };
  }

  /** The notes, and the fields that could not be carried over. */
  get lines(): string[] {
    return inOrder(this.found);
  }

  /** Throws an InputError if an error was reported. */
  check(): void {
    if (this.wrong.length > 0) throw new InputError(inOrder(this.wrong));
  }
}

export interface DocumentReport {
  /** Identifies the document for the user: `EtcdCluster orders (document 2)`. */
  readonly label: string;
  note(field: string, text: string): void;
  lost(field: string, text: string): void;
  error(field: string, text: string): void;
}

function inOrder(lines: readonly Line[]): string[] {
  return [...lines].sort((a, b) => a.document - b.document).map(({ text }) => text);
}
