import Foundation

/// The HTML file that `--report` names.
struct ReportFile: Sendable {
    static let name = "report"
    static let option = Arguments.Option.value(name, "FILE", "Writes a report of the run to this HTML file.")

    let path: String
    let page: ReportPage

    /// Reads the option `--report` and checks that the file can be written.
    ///
    /// Returns `nil` if the option was not given.
    ///
    /// The check is made before the run, so that the results are not lost because of an invalid path.
    init?(_ arguments: Arguments) throws(UsageError) {
        guard let path = arguments.text(Self.name) else { return nil }
        try self.init(at: path)
    }

    /// Checks that a file can be written.
    init(at path: String) throws(UsageError) {
        self.path = path
        do { page = try ReportPage() } catch { throw UsageError("--\(Self.name): \(error)") }
        if let problem { throw UsageError("--\(Self.name): cannot write \(path): \(problem)") }
    }

    /// Writes the page of a report into the file, in place of its previous contents.
    func write(_ report: Report) throws {
        try write(html: try page.html(for: report))
    }

    /// Writes a page into the file, in place of its previous contents.
    func write(html: String) throws {
        // The existing file is overwritten and not replaced by a new file, because it can be a pipe or a device.
        try Data(html.utf8).write(to: URL(fileURLWithPath: path))
    }

    /// The reason why the file cannot be written, or `nil` if it can be written.
    private var problem: String? {
        let manager = FileManager.default
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        var isFolder: ObjCBool = false
        if path.isEmpty { return "the path is empty" }
        if manager.fileExists(atPath: path, isDirectory: &isFolder) {
            if isFolder.boolValue { return "it is a folder" }
            return manager.isWritableFile(atPath: path) ? nil : "it is not writable"
        }
        guard manager.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            return "the folder \(folder) does not exist"
        }
        return manager.isWritableFile(atPath: folder) ? nil : "the folder \(folder) is not writable"
    }
}
