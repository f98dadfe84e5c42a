/// A table as plain HTML, in the same form as the tables that the script of a page creates.
package struct HTMLTable {
    private let title: String
    private let columns: [String]
    private let rows: [[String]]

    /// Creates a table with a title, column headings and rows of texts.
    package init(_ title: String, _ columns: [String], _ rows: [[String]]) {
        self.title = title
        self.columns = columns
        self.rows = rows
    }

    /// The HTML with all texts escaped.
    package var html: String {
        let name = HTMLText.escaped(title)
        let head = columns.map { "<th scope=\"col\">\(HTMLText.escaped($0))</th>" }.joined()
        let body = rows.map { cells in
            let row = cells.enumerated().map { place, cell in
                let text = HTMLText.escaped(cell)
                return place == 0 ? "<th scope=\"row\">\(text)</th>" : "<td>\(text)</td>"
            }
            return "<tr>\(row.joined())</tr>"
        }
        return """
            <section class="tabled"><h3 class="quiet">\(name)</h3>
            <div class="scroller" role="region" tabindex="0" aria-label="\(name)"><table aria-label="\(name)">
            <thead><tr>\(head)</tr></thead>
            <tbody>\(body.joined(separator: "\n"))</tbody>
            </table></div></section>
            """
    }
}
