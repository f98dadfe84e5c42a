import Foundation

/// The file that `--report` names: a page.
struct ReportFile: Sendable {
    static let name = "report"
    static let option = Arguments.Option.value(name, "FILE", "write a page that shows the run: one HTML file")

    let path: String
    private let page: ReportPage

    /// Reads the option, and makes sure before the run that the file can be written; `nil` when it was not given.
    init?(_ arguments: Arguments) throws(UsageError) {
        guard let path = arguments.text(Self.name) else { return nil }
        try self.init(at: path)
    }

    /// Makes sure that a file can be written.
    init(at path: String) throws(UsageError) {
        self.path = path
        do { page = try ReportPage() } catch { throw UsageError("--\(Self.name): \(error)") }
        if let problem { throw UsageError("--\(Self.name): cannot write \(path): \(problem)") }
    }

    /// Writes the page, and replaces what stood in the file.
    func write(_ report: Report) throws {
        try write(html: try page.html(for: report))
    }

    /// Writes a page, and replaces what stood in the file.
    func write(html: String) throws {
        // Into the file that is there and not over it: it may be a pipe or a device.
        try Data(html.utf8).write(to: URL(fileURLWithPath: path))
    }

    /// What is in the way of writing the file; `nil` when nothing is.
    private var problem: String? {
        let manager = FileManager.default
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        var isFolder: ObjCBool = false
        if path.isEmpty { return "it has no name" }
        if manager.fileExists(atPath: path, isDirectory: &isFolder) {
            if isFolder.boolValue { return "it is a folder" }
            return manager.isWritableFile(atPath: path) ? nil : "it may not be changed"
        }
        guard manager.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            return "there is no folder \(folder)"
        }
        return manager.isWritableFile(atPath: folder) ? nil : "the folder \(folder) may not be changed"
    }
}
