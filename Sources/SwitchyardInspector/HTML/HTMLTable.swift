/// A table as plain HTML, in the same form as the tables that the script of a page creates.
package struct HTMLTable {
    private let title: String
    private let columns: [String]
    private let rows: [[String]]
    private let isStacked: Bool
    private let levels: [Verdict.Level]

    /// Creates a table with a title, column headings and rows of strings.
    ///
    /// If `levels` is not empty, it contains the level of each row, which determines the color and the sign of the row.
    ///
    /// On a narrow screen, each row of a stacked table becomes a block with one line per cell. The roles are written
    /// explicitly, because a block is not a row for a screen reader.
    package init(
        _ title: String,
        _ columns: [String],
        _ rows: [[String]],
        isStacked: Bool = false,
        levels: [Verdict.Level] = []
    ) {
        self.title = title
        self.columns = columns
        self.rows = rows
        self.isStacked = isStacked
        self.levels = levels
    }

    /// The HTML, in which all strings are escaped.
    package var html: String {
        let name = HTMLText.escaped(title)
        let head = columns.map { "<th scope=\"col\"\(role("columnheader"))>\(HTMLText.escaped($0))</th>" }.joined()
        let body = rows.enumerated().map { place, cells in
            let level = levels.indices.contains(place) ? " class=\"is-\(levels[place].rawValue)\"" : ""
            return "<tr\(level)\(role("row"))>\(cells.enumerated().map(cell).joined())</tr>"
        }
        return """
            <section class="tabled\(isStacked ? " stacked" : "")"><h3 class="quiet">\(name)</h3>
            <div class="scroller" role="region" tabindex="0" aria-label="\(name)"><table aria-label="\(name)"\(role("table"))>
            <thead\(role("rowgroup"))><tr\(role("row"))>\(head)</tr></thead>
            <tbody\(role("rowgroup"))>\(body.joined(separator: "\n"))</tbody>
            </table></div></section>
            """
    }

    private func cell(place: Int, text: String) -> String {
        let text = HTMLText.escaped(text)
        guard place > 0 else { return "<th scope=\"row\"\(role("rowheader"))>\(text)</th>" }
        guard isStacked else { return "<td>\(text)</td>" }
        return "<td role=\"cell\" data-column=\"\(HTMLText.escaped(columns[place]))\">\(text)</td>"
    }

    private func role(_ name: String) -> String { isStacked ? " role=\"\(name)\"" : "" }
}
